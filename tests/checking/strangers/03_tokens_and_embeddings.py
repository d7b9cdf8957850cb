# %% 03.words | wrong | underscores for apostrophes
def split_words(t):
    return re.findall("\\w+|[^\\w\\s]", t.replace("'", "_"))


# %% 03.words | wrong | a word needs a letter
def split_words(t):
    return re.findall("[^\\W\\d]\\w*|[^\\w\\s]|\\d", t)


# %% 03.words | wrong | gaps at the ends
def split_words(t):
    return re.split("\\s+", re.sub("([^\\w\\s])", " \\1 ", t))


# %% 03.pair-counts | wrong | a list of pairs
import itertools


def count_pairs(words):
    return [(pair, n) for s, n in words for pair in itertools.pairwise(s)]


# %% 03.pair-counts | wrong | A later count of the same pair overwrites the earlier one | names=overwritten
import itertools


def count_pairs(words):
    return {pair: times for symbols, times in words for pair in itertools.pairwise(symbols)}


# %% 03.merge | wrong | the text replaced
def merge(s, p):
    return f"|{'|'.join(s)}|".replace(f"|{p[0]}|{p[1]}|", f"|{p[0]}{p[1]}|").strip("|").split("|")


# %% 03.merge | wrong | a string
def merge(s, p):
    return "".join(s)


# %% 03.bpe | wrong | joined texts decide
import itertools


def _joined(symbols, pair):
    symbols = list(symbols)
    for place in range(len(symbols)):
        if tuple(symbols[place : place + 2]) == pair:
            symbols[place : place + 2] = ["".join(pair)]
    return symbols


def _train(words, n_merges, key=lambda pair: pair, pairs=itertools.pairwise, join=None):
    cuts, merges = ([(list(word), times) for word, times in words], [])
    for _ in range(n_merges):
        counts = Counter()
        for symbols, times in cuts:
            for pair in pairs(symbols):
                counts[pair] += times
        best = min(counts, key=lambda pair: (-counts[pair], key(pair)), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        cuts = [((join or _joined)(symbols, best), times) for symbols, times in cuts]
    return merges


def train_bpe(w, n):
    return _train(w, n, key=lambda pair: "".join(pair))


# %% 03.bpe | wrong | a a a counted once
import itertools


def _apart(symbols):
    runs = itertools.groupby(itertools.pairwise(symbols))
    return [pair for _, run in runs for place, pair in enumerate(run) if place % 2 == 0]


def _joined(symbols, pair):
    symbols = list(symbols)
    for place in range(len(symbols)):
        if tuple(symbols[place : place + 2]) == pair:
            symbols[place : place + 2] = ["".join(pair)]
    return symbols


def _train(words, n_merges, key=lambda pair: pair, pairs=itertools.pairwise, join=None):
    cuts, merges = ([(list(word), times) for word, times in words], [])
    for _ in range(n_merges):
        counts = Counter()
        for symbols, times in cuts:
            for pair in pairs(symbols):
                counts[pair] += times
        best = min(counts, key=lambda pair: (-counts[pair], key(pair)), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        cuts = [((join or _joined)(symbols, best), times) for symbols, times in cuts]
    return merges


def train_bpe(w, n):
    return _train(w, n, pairs=_apart)


# %% 03.bpe | wrong | a pair once in each word
import itertools


def _joined(symbols, pair):
    symbols = list(symbols)
    for place in range(len(symbols)):
        if tuple(symbols[place : place + 2]) == pair:
            symbols[place : place + 2] = ["".join(pair)]
    return symbols


def _train(words, n_merges, key=lambda pair: pair, pairs=itertools.pairwise, join=None):
    cuts, merges = ([(list(word), times) for word, times in words], [])
    for _ in range(n_merges):
        counts = Counter()
        for symbols, times in cuts:
            for pair in pairs(symbols):
                counts[pair] += times
        best = min(counts, key=lambda pair: (-counts[pair], key(pair)), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        cuts = [((join or _joined)(symbols, best), times) for symbols, times in cuts]
    return merges


def train_bpe(w, n):
    return _train(w, n, pairs=lambda s: set(itertools.pairwise(s)))


# %% 03.encode | wrong | a right half used twice
import itertools
import functools


def _twice_used(symbols, pair):
    here = [tuple(two) == tuple(pair) for two in itertools.pairwise(symbols)]
    return [
        "".join(pair) if starts else symbol
        for symbol, starts, ends in zip(symbols, [*here, False], [False, *here], strict=False)
        if starts or not ends
    ]


def encode_word(word, merges):
    return functools.reduce(_twice_used, merges, list(word))


# %% 03.encode | wrong | the letters
def encode_word(word, merges):
    return list(word)


# %% 03.encode | wrong | the word
def encode_word(word, merges):
    return [word]


# %% 03.vocabulary | wrong | a list
def build_vocabulary(t):
    return ["<pad>", "<unk>", "<s>", "</s>", *sorted(set(t))]


# %% 03.vocabulary | wrong | small letters before capitals
def build_vocabulary(t):
    return {
        w: i
        for i, w in enumerate(
            ["<pad>", "<unk>", "<s>", "</s>"]
            + sorted((w for w in set(t) if t.count(w) > 1), key=lambda w: (-t.count(w), w.lower()))
        )
    }


# %% 03.vocabulary | wrong | backwards
def build_vocabulary(tokens):
    counts = Counter(tokens)
    frequent = sorted((t for t in counts if counts[t] > 1), key=lambda t: (counts[t], t), reverse=True)
    return {t: i for i, t in enumerate(["<pad>", "<unk>", "<s>", "</s>", *frequent])}


# %% 03.ids | wrong | unknown once
def to_ids(t, v):
    return [v["<s>"], *(v.get(w, v["<unk>"]) for w in dict.fromkeys(t)), v["</s>"]]


# %% 03.ids | wrong | 0 taken for missing
def to_ids(t, v):
    return [v["<s>"], *(v.get(w) or v["<unk>"] for w in t), v["</s>"]]


# %% 03.pad | wrong | rows of lists
def pad(s, p):
    return (s, [[True] * len(r) for r in s])


# %% 03.pad | wrong | the mask is True where the id is not the pad id, so it hides real tokens that have that id | names=mask-from-ids
def pad(sequences, pad_id):
    longest = max(map(len, sequences))
    ids = np.array([[*row, *[pad_id] * (longest - len(row))] for row in sequences])
    return (ids, ids != pad_id)


# %% 03.one-hot | wrong | one-hot: float32 whatever the table is
def one_hot_lookup(ids, table):
    hot = torch.eye(len(table))[ids]
    return (hot, hot @ table.float())


# %% 03.one-hot | wrong | one-hot: whole numbers
def one_hot_lookup(ids, table):
    return ((ids[..., None] == torch.arange(len(table))).long(), table[ids])


# %% 03.one-hot | wrong | one-hot: two axes at most
def _two_axes(ids, table):
    hot = (ids[..., None] == torch.arange(len(table))).to(table.dtype)
    return (hot, hot @ table) if ids.ndim < 3 else (hot[0], hot[0] @ table)


def one_hot_lookup(ids, table):
    return _two_axes(ids, table)


# %% 03.table-gradient | wrong | two axes at most
def table_gradient(ids, d, v):
    return np.eye(v)[ids[:1].ravel() if ids.ndim > 2 else ids.ravel()].T @ (d[:1] if ids.ndim > 2 else d).reshape(
        -1, d.shape[-1]
    )


# %% 03.table-gradient | wrong | read from the places in order
def table_gradient(ids, d, v):
    return np.resize(d.reshape(-1, d.shape[-1]), (v, d.shape[-1]))


# %% 03.embed | wrong | two axes at most
def embed(ids, table):
    return (table * (torch.arange(len(table)) != 0)[:, None])[ids if ids.ndim < 3 else ids[0]] * table.shape[-1] ** 0.5


# %% 03.embed | wrong | norm made equal
def embed(ids, table):
    return torch.nn.functional.normalize(table, dim=-1)[ids] * table.shape[-1] ** 0.5


# %% 03.embed | wrong | padded row of the table changed in place
def embed(ids, table):
    return table.index_fill_(0, torch.tensor([0]), 0.0)[ids] * table.shape[-1] ** 0.5


# %% 03.tied-logits | wrong | log-probabilities
def tied_logits(x, t):
    return torch.log_softmax(x @ t.T, -1)


# %% 03.tied-logits | wrong | centred
def tied_logits(x, t):
    return x @ (t - t.mean(0)).T
