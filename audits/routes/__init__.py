"""The console's routes by area; ``audits/urls.py`` puts them together."""
