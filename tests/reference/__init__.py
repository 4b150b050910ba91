"""Slow, independent twins and generators that judge the kernels. Never imported by the product."""
