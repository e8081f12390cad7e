"""For worker processes: ``dask worker --preload blosc_frame.preload``. Importing this module calls `register`."""

from . import register

register()
