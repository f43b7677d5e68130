"""The version of deskcheck, for files that name the version that wrote them."""

__version__ = "0.1.0"
