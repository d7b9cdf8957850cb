# %% 11.intensity | wrong | has `def intensity(r, w, o, bits): return o / (max(r, w) * bits / 8)`
def intensity(r, w, o, bits):
    return o / (max(r, w) * bits / 8)


# %% 11.fuse | wrong | has `def bytes_moved(steps, keep, n, w): apart = sum((len(set(''.join(i))) + 1 for _, i in steps)) made, read =  ...`
def bytes_moved(steps, keep, n, w):
    apart = sum(len(set("".join(i))) + 1 for _, i in steps)
    made, read = {o for o, _ in steps}, set("".join([x for _, i in steps for x in i]))
    return apart * n * w, (len(read - made) + len(keep)) * n * w


# %% 11.product | wrong | the code counts D - 1 additions for a sum of D products | names=one-sum-less
def product_cost(t, d, f, w):
    return (2 * d - 1) * t * f, w * (t * d + d * f + t * f)


# %% 11.sheet | wrong | has `power, star = ({'M': 2, 'G': 3, 'T': 4}[unit[0]], '*' in text) return value * {'TFLOPS': 1000000000000.0, ' ...`
def read_sheet(text):
    number, unit = text.rstrip("*").split()
    value = float(number.replace(",", ""))
    power, star = {"M": 2, "G": 3, "T": 4}[unit[0]], "*" in text
    return (
        value
        * {
            "TFLOPS": 1e12,
            "TOPS": 1e12,
            "GB/s": 1e9,
            "TB/s": 1e12,
            "GB": 1e9,
            "GiB": 2**30,
            "MiB": 2**20,
            "MB/s": 1e6,
            "TiB": 2**40,
        }[unit]
        / (1 + star)
    )


# %% 11.sheet | wrong | the code reads memory sizes in GB as 2**30 bytes, but rates as powers of ten | names=binary-sizes
def read_sheet(text):
    number, unit = text.rstrip("*").split()
    value = float(number.replace(",", ""))
    power, star = {"M": 2, "G": 3, "T": 4}[unit[0]], "*" in text
    return value * (1024 if "i" in unit or unit[-1] == "B" else 1e3) ** power / (1 + star)


# %% 11.ridge | wrong | `return sheet['sparse'].get(dtype, 2 * sheet['dense'][dtype]) / 2 / sheet['memory']` in place of `return sheet['dense'][dtype] / sheet['memory']`
def ridge(sheet, dtype):
    return sheet["sparse"].get(dtype, 2 * sheet["dense"][dtype]) / 2 / sheet["memory"]


# %% 11.ridge | wrong | the peak is in TFLOP/s, but the bandwidth is in GB/s | names=prefixes-mixed
def ridge(sheet, dtype):
    return sheet["dense"][dtype] / 1e12 / (sheet["memory"] / 1e9)


# %% 11.attainable | wrong | the peak is in FLOP/s, but the bandwidth is in GB/s | names=giga-dropped
def attainable(peak, road, intensity):
    return min(peak * 1e12, road * intensity) / 1e12


# %% 11.rows | right | has `def fewest_rows(d, f, w, ridge): left = 2 / (ridge * w) - 1 / d - 1 / f return math.ceil(1 / left) if left  ...`
def fewest_rows(d, f, w, ridge):
    left = 2 / (ridge * w) - 1 / d - 1 / f
    return math.ceil(1 / left) if left > 0 else 0


# %% 11.rows | wrong | has `def fewest_rows(d, f, w, ridge): for t in range(1, 5000): if 2 * t * d * f / (w * (t * d + d * f + t * f))  ...`
def fewest_rows(d, f, w, ridge):
    for t in range(1, 5000):
        if 2 * t * d * f / (w * (t * d + d * f + t * f)) >= ridge:
            return t
    return 0


# %% 11.rows | wrong | where no number of rows is enough, the code returns infinity | names=never-infinite
def fewest_rows(d, f, w, ridge):
    gain = 2 * d * f - ridge * w * (d + f)
    return math.inf if gain <= 0 else math.ceil(ridge * w * d * f / gain)


# %% 11.near | wrong | has `def how_near(flops, n_bytes, seconds, peak, road): a, b = (flops / peak, n_bytes / road) return (max(a, b)  ...`
def how_near(flops, n_bytes, seconds, peak, road):
    a, b = flops / peak, n_bytes / road
    return max(a, b) / seconds, flops / seconds >= peak / 2


# %% 11.near | wrong | the code limits the fraction to 1 | names=clipped
def how_near(flops, n_bytes, seconds, peak, road):
    a, b = flops / peak, n_bytes / road
    return min(1.0, max(a, b) / seconds), a >= b


# %% 11.link | wrong | the two results are swapped | names=pair-swapped
def time_with_link(flops, n_bytes, link_bytes, peak, road, link):
    t = [flops / peak, n_bytes / road, 2 * link_bytes / link]
    return t.index(max(t)), max(t)
