# %% 01.recurrent | wrong | six tokens
def recurrent(x, *weights):
    return recurrent(x[:6], *weights)


# %% 01.recurrent | wrong | float32 whatever comes in
def recurrent(*args):
    return recurrent(*(a.float() for a in args))


# %% 01.depth | wrong | five sweeps
times = 5


def finish_times(needs):
    done = np.zeros(len(needs), dtype=int)
    for _ in range(times):
        done = np.array([max((1 + done[j] for j in np.flatnonzero(row)), default=0) for row in needs])
    return done


# %% 01.depth | wrong | twenty sweeps
times = 20


def finish_times(needs):
    done = np.zeros(len(needs), dtype=int)
    for _ in range(times):
        done = np.array([max((1 + done[j] for j in np.flatnonzero(row)), default=0) for row in needs])
    return done


# %% 01.operations | wrong | in attention, only the scores and the weighted sum are counted | names=no-projections-solved
def good(t, d):
    return (16 * t * d * d, 8 * t * d * d + 4 * t * t * d, 2 * d)


def operations(t, d):
    return (good(t, d)[0], 4 * t * t * d, 4 * d)


# %% 01.operations | wrong | this is half of the operations of the two T by T products | names=scores-alone-solved
def good(t, d):
    return (16 * t * d * d, 8 * t * d * d + 4 * t * t * d, 2 * d)


def operations(t, d):
    return (good(t, d)[0], 8 * t * d * d + 2 * t * t * d, 4 * d)


# %% 01.pairs | wrong | row t holds only t tokens, and row 0 none | names=one-too-few
def rows(ids):
    return ids[:-1].expand(len(ids) - 1, -1)


def next_token_pairs(ids):
    return (rows(ids).tril(-1), ids[1:])


# %% 01.pairs | wrong | the last row holds only padding | names=last-row-blank
def rows(ids):
    return ids[:-1].expand(len(ids) - 1, -1)


def next_token_pairs(ids):
    features = rows(ids).tril()
    features[-1] = 0
    return (features, ids[1:])


# %% 01.push-up | wrong | exp alone, float64
from torch._C._nn import one_hot


def pushed(p, logits, labels, share=None):
    return logits - 0.5 / (share or len(labels)) * (p - one_hot(labels, logits.shape[1]))


def push_up(x, y):
    return pushed((x.double().exp() / x.double().exp().sum(1, keepdim=True)).to(x.dtype), x, y)


# %% 01.push-up | wrong | the mean subtracted
from torch._C._nn import one_hot


def pushed(p, logits, labels, share=None):
    return logits - 0.5 / (share or len(labels)) * (p - one_hot(labels, logits.shape[1]))


def push_up(logits, labels):
    e = (logits - logits.mean(1, keepdim=True)).exp()
    return pushed(e / e.sum(1, keepdim=True), logits, labels)
