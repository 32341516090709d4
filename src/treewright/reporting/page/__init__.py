"""The script and style of pages: small modules, put together into one."""
