# %% 11.attainable | right | everything in plain units first, the two cases told apart by the ridge, without min
def attainable(peak_tflops, bandwidth_gb_per_s, intensity):
    operations = peak_tflops * 1e12
    from_memory = bandwidth_gb_per_s * 1e9 * intensity
    if from_memory < operations:
        return from_memory / 1e12
    return peak_tflops


# %% 11.attainable | wrong | from GB to TB by 1024 | names=step-of-1024
def attainable(peak_tflops, bandwidth_gb_per_s, intensity):
    return min(peak_tflops, bandwidth_gb_per_s / 1024 * intensity)


# %% 11.fuse | right | two small dictionaries instead of sets, everything counted in one walk over the steps
def bytes_moved(steps, keep, n, bytes_per_number):
    made = {name: True for name, _ in steps}
    outside = {}
    passes = 0
    for _, reads in steps:
        distinct = dict.fromkeys(reads)
        passes += 1 + len(distinct)
        outside.update({name: True for name in distinct if name not in made})
    size = n * bytes_per_number
    return passes * size, (len(outside) + len(keep)) * size


# %% 11.fuse | wrong | counts an array that a step names twice as two reads in `apart` | names=same-read-twice
def bytes_moved(steps, keep, n, bytes_per_number):
    apart = sum(len(r) + 1 for _, r in steps)
    made = {m for m, _ in steps}
    ins = {a for _, r in steps for a in r} - made
    size = n * bytes_per_number
    return apart * size, (len(ins) + len(keep)) * size


# %% 11.fuse | wrong | the fused pass leaves out steps whose results `keep` does not need, and so their inputs; e.g. keep = [] gives 0 instead of the bytes of all inputs | names=unneeded-left-out
def bytes_moved(steps, keep, n, bytes_per_number):
    size = n * bytes_per_number
    apart = 0
    for _, reads in steps:
        apart += len(set(reads)) + 1
    needed = set(keep)
    for name, reads in reversed(steps):
        if name in needed:
            needed.update(reads)
    made = {name for name, _ in steps}
    return apart * size, (len(needed - made) + len(keep)) * size


# %% 11.intensity | wrong | rounds the bits of a number up to whole bytes: wrong for 4 bits, or 12 | names=whole-bytes
def intensity(reads, writes, operations, bits):
    bytes_per_number = math.ceil(bits / 8)
    return operations / ((reads + writes) * bytes_per_number)


# %% 11.intensity | wrong | counts two for each operation (thinks of multiply-adds), though `operations` already counts additions and multiplications | names=operations-doubled
def intensity(reads, writes, operations, bits):
    return 2 * operations / ((reads + writes) * bits / 8)


# %% 11.link | right | sorts (seconds, number) pairs and takes the last; doubles the bytes instead of halving the link
def time_with_link(flops, n_bytes, link_bytes, peak, bandwidth, link):
    work = [(flops, peak), (n_bytes, bandwidth), (2 * link_bytes, link)]
    seconds, limit = sorted((amount / rate, number) for number, (amount, rate) in enumerate(work))[-1]
    return seconds, limit


# %% 11.link | wrong | uses the link's printed bandwidth, of both directions together, for one direction | names=both-ways
def time_with_link(flops, n_bytes, link_bytes, peak, bandwidth, link):
    times = [flops / peak, n_bytes / bandwidth, link_bytes / link]
    return max(times), times.index(max(times))


# %% 11.link | wrong | thinks that the received bytes are written to memory on top of n_bytes, and adds them to the memory's traffic | names=through-memory
def time_with_link(flops, n_bytes, link_bytes, peak, bandwidth, link):
    times = [flops / peak, (n_bytes + link_bytes) / bandwidth, link_bytes / (link / 2)]
    limit = max(range(3), key=lambda i: times[i])
    return times[limit], limit


# %% 11.near | right | divides the least time by the time taken; the comparison with the ridge is exact, in fractions
def how_near(flops, n_bytes, seconds, peak, bandwidth):
    from fractions import Fraction as Q

    compute = Q(flops) / Q(peak)
    memory = Q(n_bytes) / Q(bandwidth)
    return float(max(compute, memory) / Q(seconds)), compute >= memory


# %% 11.near | wrong | exactly at the ridge it says memory-bound (strictly greater) | names=ridge-left-out
def how_near(flops, n_bytes, seconds, peak, bandwidth):
    rate = flops / seconds
    attainable_rate = min(peak, bandwidth * flops / n_bytes)
    return rate / attainable_rate, flops * bandwidth > peak * n_bytes


# %% 11.near | wrong | cuts the fraction at 1, though data from a cache may exceed it | names=clipped
def how_near(flops, n_bytes, seconds, peak, bandwidth):
    frac = flops / seconds / min(peak, bandwidth * flops / n_bytes)
    return min(frac, 1.0), flops * bandwidth >= peak * n_bytes


# %% 11.product | wrong | gives the result the size of the first operand, T x D, in the bytes: right only where D = F | names=for:d:f#3
def product_cost(t, d, f, bytes_per_number):
    return 2 * t * d * f, (2 * t * d + d * f) * bytes_per_number


# %% 11.ridge | wrong | takes the sparse peak where the sheet has one, since it is the larger number | names=sparse-peak
def ridge(sheet, dtype):
    peak = sheet["sparse"].get(dtype, sheet["dense"][dtype])
    return peak / sheet["memory"]


# %% 11.rows | right | doubles T until it is enough, then bisects, all in fractions
def fewest_rows(d, f, bytes_per_number, ridge):
    from fractions import Fraction

    r, b = Fraction(ridge), Fraction(bytes_per_number)
    if 2 * d * f <= r * b * (d + f):
        return 0  # the limit for T without end, which is never reached

    def enough(t):
        return 2 * t * d * f >= r * b * (t * d + d * f + t * f)

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


# %% 11.rows | wrong | floor + 1 instead of the ceiling: one too many where the intensity can equal the ridge exactly, e.g. d = f = 8, 2 bytes, ridge 2: 4 is enough, here 5 | names=one-too-many
def fewest_rows(d, f, bytes_per_number, ridge):
    gain = 2 * d * f - ridge * bytes_per_number * (d + f)
    if gain <= 0:
        return 0
    return math.floor(ridge * bytes_per_number * d * f / gain) + 1


# %% 11.rows | wrong | the rule of thumb for huge D and F: intensity = 2T / bytes per number, so T = ridge * bytes / 2 | names=matrix-alone
def fewest_rows(d, f, bytes_per_number, ridge):
    return math.ceil(ridge * bytes_per_number / 2)


# %% 11.sheet | right | exact with fractions and string methods, no regular expression
def read_sheet(text):
    from fractions import Fraction

    sparse = text.endswith("*")
    number, _, unit = text.rstrip("*").partition(" ")
    value = Fraction(number.replace(",", ""))
    if unit[1:2] == "i":
        factor = 2 ** {"M": 20, "G": 30, "T": 40}[unit[0]]
    else:
        factor = 10 ** {"M": 6, "G": 9, "T": 12}[unit[0]]
    return float(value * factor / (2 if sparse else 1))


# %% 11.sheet | wrong | takes only the first letter of the unit as its prefix, so Mi, Gi and Ti are read as powers of ten | names=binary-overlooked
def read_sheet(text):
    number, unit = text.split(" ")
    value = float(number.replace(",", "")) * {"M": 1e6, "G": 1e9, "T": 1e12}[unit[0]]
    if unit.endswith("*"):
        value = value / 2
    return value


# %% 11.sheet | wrong | removes only the first comma, then reads what stands before the next: wrong (1,000,000 read as 1000) only for entries with two commas
def read_sheet(text):
    import re

    num, unit, star = re.match(r"(\d+(?:,\d{3})?(?:\.\d+)?)\S* ([MGT]i?)[^*]*(\*?)", text).groups()
    mult = {"M": 1e6, "G": 1e9, "T": 1e12, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}[unit]
    return float(num.replace(",", "")) * mult / (2 if star else 1)


# %% 11.time | wrong | takes the larger of the two totals: lets the data of one operation move while another computes | names=one-roof-for-all
def least_time(operations, peak, bandwidth):
    all_flops = sum(flops for flops, _ in operations)
    all_bytes = sum(n_bytes for _, n_bytes in operations)
    return max(all_flops / peak, all_bytes / bandwidth)


# %% 11.time | wrong | adds computing and moving, as if they did not overlap | names=added
def least_time(operations, peak, bandwidth):
    return sum(f / peak + b / bandwidth for f, b in operations)
