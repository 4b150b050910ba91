"""The type of sparse matrices in annotations.

SciPy's inferred types say that indexing a csr_array may give None; `Sparse` stands for a
`scipy.sparse.csr_array` and is not checked further.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Sparse: TypeAlias = Any
