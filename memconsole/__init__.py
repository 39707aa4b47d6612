"""The project: settings, urls, the Celery application and the embedded services.

Assembles; decides nothing about memories. Nothing else imports it. Read
``settings.py`` for configuration and ``embedded/runner.py`` for `make run`.
"""
