"""SciPy's sparse arrays, imported when first used, so that `import pliant` need not wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.sparse import bsr_array as bsr_array
    from scipy.sparse import coo_array as coo_array
    from scipy.sparse import csc_array as csc_array
    from scipy.sparse import csr_array as csr_array
else:

    def __getattr__(name: str) -> Any:
        import scipy.sparse

        return getattr(scipy.sparse, name)
