"""The config.json of a published model, read so that every entry is accounted for: used, without effect, or refused."""
