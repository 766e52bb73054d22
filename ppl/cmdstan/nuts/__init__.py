"""Stan's No-U-Turn sampler, with its warmup and its metrics: what `method=sample` runs."""
