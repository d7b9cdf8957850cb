# %% 03.bpe | wrong | ties in the order of the joined strings: among ("a", "bc") and ("ab", "b") it takes the second ("abb" before "abc") | names=tie-joined
def train_bpe(words, n_merges):
    words = [(list(word), times) for word, times in words]
    pairs = []
    while len(pairs) < n_merges:
        counts = count_pairs(words)
        order = sorted(counts, key=lambda pair: (-counts[pair], "".join(pair), pair))
        if not order or counts[order[0]] < 2:
            break
        pairs.append(order[0])
        words = [(merge(symbols, order[0]), times) for symbols, times in words]
    return pairs


# %% 03.bpe | wrong | ties: most_common gives the pair that was seen first in the text | names=tie-first-met
def train_bpe(words, n_merges):
    words = [(list(word), times) for word, times in words]
    pairs = []
    for _ in range(n_merges):
        counts = Counter(count_pairs(words))
        if not counts:
            break
        best, n = counts.most_common(1)[0]
        if n < 2:
            break
        pairs.append(best)
        words = [(merge(symbols, best), times) for symbols, times in words]
    return pairs


# %% 03.bpe | right | every occurrence of a word's pair is listed anew; the best is the smallest of (-count, pair)
def train_bpe(words, n_merges):
    state = [(tuple(word), times) for word, times in words]
    learned = []
    while len(learned) < n_merges:
        counts = {}
        for symbols, times in state:
            for i in range(1, len(symbols)):
                pair = symbols[i - 1 : i + 1]
                counts[pair] = counts.get(pair, 0) + times
        if max(counts.values(), default=0) < 2:
            break
        learned.append(min((-n, pair) for pair, n in counts.items())[1])
        state = [(tuple(merge(list(symbols), learned[-1])), times) for symbols, times in state]
    return learned


# %% 03.embed | wrong | zeroes the first *position* of each sequence and not the id 0 | names=position-zeroed
def embed(ids, table):
    keep = torch.ones(ids.shape[-1], 1, dtype=table.dtype)
    keep[0] = 0
    return table[ids] * math.sqrt(table.shape[1]) * keep


# %% 03.embed | right | ids.view(-1) raises where ids are a transposed (not contiguous) tensor
def embed(ids, table):
    vectors = table[ids.view(-1)] * math.sqrt(table.shape[1])
    vectors = vectors * (ids.view(-1, 1) != 0)
    return vectors.view(*ids.shape, -1)


# %% 03.encode | wrong | greedy longest match against the tokens that the merges make, as WordPiece does | names=longest-first
def encode_word(word, merges):
    known = {a + b for a, b in merges}
    tokens = []
    while word:
        for n in range(len(word), 0, -1):
            if n == 1 or word[:n] in known:
                tokens.append(word[:n])
                word = word[n:]
                break
    return tokens


# %% 03.encode | right | always merges the pair with the lowest rank, until none of the word's pairs has a rank
def encode_word(word, merges):
    rank = {tuple(pair): r for r, pair in reversed(list(enumerate(merges)))}
    tokens = list(word)
    while True:
        present = [pair for pair in zip(tokens, tokens[1:]) if pair in rank]
        if not present:
            return tokens
        tokens = merge(tokens, min(present, key=rank.get))


# %% 03.ids | wrong | `get(...) or unk`: a token whose id is 0 becomes unknown | names=zero-taken-for-missing
def to_ids(tokens, vocabulary):
    unk = vocabulary["<unk>"]
    return [vocabulary["<s>"], *[vocabulary.get(t) or unk for t in tokens], vocabulary["</s>"]]


# %% 03.merge | wrong | joins with spaces and replaces text: "ba" "n" with the pair ("a", "n") is merged, since "ba n" contains "a n" | names=by-spaced-text-at-spaces
def merge(symbols, pair):
    return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split(" ")


# %% 03.merge | right | a stack: pops symbols off a reversed copy, pushes a joined pair
def merge(symbols, pair):
    rest, out = list(symbols)[::-1], []
    while rest:
        left = rest.pop()
        if rest and [left, rest[-1]] == list(pair):
            left += rest.pop()
        out.append(left)
    return out


# %% 03.one-hot | wrong | as many columns as the largest id in the batch plus one, not V | names=as-wide-as-the-ids
def one_hot_lookup(ids, table):
    n = int(ids.max()) + 1
    rows = (ids.unsqueeze(-1) == torch.arange(n)).to(table.dtype)
    return rows, rows @ table[:n]


# %% 03.one-hot | right | scatter_ of ones along the last axis, product by tensordot
def one_hot_lookup(ids, table):
    rows = torch.zeros(*ids.shape, table.shape[0], dtype=table.dtype)
    rows.scatter_(-1, ids.long().unsqueeze(-1), 1.0)
    return rows, torch.tensordot(rows, table, dims=1)


# %% 03.pad | wrong | the mask is ids != pad_id: a real token with that id (</s>) is masked out | names=mask-from-ids
def pad(sequences, pad_id):
    T = max(map(len, sequences))
    ids = np.array([list(s) + [pad_id] * (T - len(s)) for s in sequences])
    return ids, ids != pad_id


# %% 03.pad | right | itertools.zip_longest down the columns, then transposed; the mask from the lengths
def pad(sequences, pad_id):
    from itertools import zip_longest

    columns = list(zip_longest(*sequences, fillvalue=pad_id))
    lengths = np.array([len(s) for s in sequences])
    return np.array(columns, dtype=int).T, np.arange(len(columns)) < lengths[:, None]


# %% 03.pair-counts | wrong | a pair that occurs twice in one word is counted once ("b a n a n a") | names=once-each-word
def count_pairs(words):
    counts = Counter()
    for symbols, times in words:
        for pair in set(pairwise(symbols)):
            counts[pair] += times
    return dict(counts)


# %% 03.table-gradient | wrong | adds sequence by sequence; a word twice in the same sequence of a batch counts once | names=once-in-a-sequence
def table_gradient(ids, d_rows, vocab_size):
    D = d_rows.shape[-1]
    grad = np.zeros((vocab_size, D))
    for i, d in zip(ids, d_rows):
        grad[i] += d
    return grad


# %% 03.tied-logits | wrong | divides by sqrt(D), "to undo the scale of the input" | names=divided
def tied_logits(x, table):
    return x @ table.T / math.sqrt(table.shape[1])


# %% 03.vocabulary | wrong | the list SPECIALS itself grows, so a second call has the first text's tokens among the special ones
def build_vocabulary(tokens):
    names = SPECIALS
    counts = Counter(tokens)
    names += sorted((t for t in counts if counts[t] >= 2), key=lambda t: (-counts[t], t))
    return {name: i for i, name in enumerate(names)}


# %% 03.words | wrong | only ASCII white space (string.whitespace) separates silently: a no-break space "\u00a0" becomes a mark | names=ascii-white-space
def split_words(text):
    import string

    spaced = "".join(ch if ch.isalnum() else f" {ch} " if ch not in string.whitespace else " " for ch in text)
    return [token for token in spaced.split(" ") if token]


# %% 03.words | wrong | marks in a row stay together: "?!" and "..." become one token | names=marks-glued
def split_words(text):
    return re.findall(r"\w+|[^\w\s]+", text)


# %% 03.words | right | itertools.groupby over isalnum
def split_words(text):
    from itertools import groupby

    tokens = []
    for is_word, run in groupby(text, key=str.isalnum):
        run = "".join(run)
        tokens.extend([run] if is_word else [mark for mark in run if not mark.isspace()])
    return tokens
