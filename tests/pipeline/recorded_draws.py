"""Records what torch draws while a function runs: u for a uniform number, bI/N for I below N."""

import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402

DRAWN = []
UNIFORM_ = torch.Tensor.uniform_
RAND, RANDINT, RANDPERM = torch.rand, torch.randint, torch.randperm


def number(value):
    return format(float(value), ".17g")


def uniform_(tensor, low=0, high=1):
    state = torch.get_rng_state()
    DRAWN.append("u" + number(RAND(1).item()))
    torch.set_rng_state(state)
    return UNIFORM_(tensor, low, high)


def rand(*size, **options):
    out = RAND(*size, **options)
    DRAWN.extend("u" + number(u) for u in out.flatten().tolist())
    return out


def randint(*arguments, size=None, **options):
    bounds = [int(a) for a in arguments if not isinstance(a, tuple)]
    low, high = bounds if len(bounds) == 2 else (0, bounds[0])
    out = RANDINT(low, high, size or arguments[-1], **options)
    DRAWN.extend(f"b{int(i) - low}/{high - low}" for i in out.flatten().tolist())
    return out


def randperm(count):
    """A permutation as exchanges of each place with itself or one behind it."""
    order = list(range(count))
    wanted = RANDPERM(count).tolist()
    for i in range(count - 1):
        at = order.index(wanted[i])
        DRAWN.append(f"b{at - i}/{count - i}")
        order[i], order[at] = order[at], order[i]
    assert order == wanted
    return torch.tensor(wanted)


torch.Tensor.uniform_, torch.rand, torch.randint, torch.randperm = uniform_, rand, randint, randperm


def drawn(function):
    """The draws as text, and the result of the function."""
    DRAWN.clear()
    out = function()
    return " ".join(DRAWN), out
