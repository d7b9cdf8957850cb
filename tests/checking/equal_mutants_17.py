"""Mutants of chapter 17 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum, a product or a dot product does not depend on the order of its parts"
BEHIND = "the same axis or place, counted from the other end, or another side of a square"
COUNT = "both have as many entries"
DTYPE = "both have the same dtype"
TARGETS = "a target is 1 where the label is 1, and -1 elsewhere"
STABLE = "torch leaves the order of equal entries in rows as short as these in any case"
STILL = "the head's own copy still holds what the head gives"

EQUAL: list[tuple[str, ...]] = [
    ("17.attribute-heads", "scale = 1 / (eps + x[-1].square().mean()).sqrt()", COMMUTES),
    ("17.difference", "scale = 1 / (eps + x.square().mean()).sqrt()", COMMUTES),
    ("17.difference", "return (read @ embedding, attention @ read, feed_forward @ read)", COMMUTES),
    ("17.silence", "mean[head] = mean[head].mean(dim=0)", STILL),
    ("17.induction", "half = weights.shape[{}] // 2", BEHIND, "1; -2"),
    ("17.induction", "return weights[:, queries, queries - half + 1].mean(dim=1)", BEHIND),
    ("17.patch", "return (states, read @ states[-1][-1])", COMMUTES),
    ("17.patch", "shares = {}.new_zeros(len(mixes), len(clean))", DTYPE, "corrupted; got; mixes; read; wanted"),
    ("17.patch", "shares = weights.new_zeros(len(mixes), len(clean))", DTYPE),
    ("17.patch", "shares = clean.new_zeros(len(weights), len(clean))", COUNT),
    ("17.patch", "shares = clean.new_zeros(len(mixes), len(corrupted))", COUNT),
    ("17.patch", "for layer in range(len({})):", COUNT, "shares; weights"),
    ("17.patch", "for position in range(len(corrupted)):", COUNT),
    ("17.patch", "shares[layer, position] = (run(x, layer)[-1] - got) / (wanted - got)", BEHIND),
    ("17.probe", "x = torch.cat((states, torch.ones_like(states[:, :1])), dim=-1)", BEHIND),
    ("17.probe", "products = x[shown].mT @ x[shown] + ridge * torch.eye(x.shape[-1], dtype=x.dtype)", BEHIND),
    ("17.probe", "products = x[shown].mT @ x[shown] + ridge * torch.eye(x.shape[1], dtype=states.dtype)", DTYPE),
    ("17.probe", "w = torch.linalg.solve(products, x[shown].mT @ targets[shown].to(products.dtype))", DTYPE),
    ("17.probe", "w = torch.linalg.solve(products, x[shown].mT @ targets[shown].to(states.dtype))", DTYPE),
    ("17.probe", "right = (x[~shown] @ w > 0) == (targets[~shown] == 1)", TARGETS),
    ("17.superposition", "units = w / lengths.clamp(min=5e-13)", BEHIND),
    ("17.superposition", "interference = squares.sum(dim=-1) - squares.diagonal()", BEHIND),
    ("17.superposition", "dimensions = lengths.square() / squares.sum(dim=1).clamp(min=5e-13)", BEHIND),
    ("17.superposition", "dimensions = lengths.square() / squares.sum(dim=-1).clamp(min=1e-12)", BEHIND),
    ("17.autoencoder", "directions = directions / directions.norm(dim=-1, keepdim=True)", BEHIND),
    ("17.autoencoder", "loss = (again - h).square().sum(dim=-1) + price * latents.sum(dim=1)", BEHIND),
    ("17.autoencoder", "loss = (again - h).square().sum(dim=1) + price * latents.sum(dim=-1)", BEHIND),
    ("17.top-k-codes", "chosen = latents.sort(descending=True, stable=True).indices[:, :k]", BEHIND),
    ("17.top-k-codes", "chosen = latents.sort(dim=1, descending=True).indices[:, :k]", STABLE),
    ("17.top-k-codes", "chosen = latents.sort(dim=1, descending=True, stable=False).indices[:, :k]", STABLE),
    ("17.top-k-codes", "chosen = latents.sort(dim=-1, descending=True, stable=True).indices[:, :k]", BEHIND),
    ("17.top-k-codes", "codes = torch.zeros_like(latents).scatter(-1, chosen, latents.gather(1, chosen))", BEHIND),
    ("17.top-k-codes", "codes = torch.zeros_like(latents).scatter(1, chosen, latents.gather(-1, chosen))", BEHIND),
    ("17.probe", "right = (x[~shown] @ w >= 0) == (labels[~shown] == 1)", "a product of 0 is a matter of rounding"),
]
