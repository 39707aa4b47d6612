"""Routes of the figures: the page of charts, each chart, and the lists behind their numbers."""

from django.urls import URLPattern, path

from audits.views import figures

routes: list[URLPattern] = [
    path("figures", figures.show_figures, name="figures"),
    path("figures/list", figures.show_list, name="figures-list"),
    path("figures/of/<slug:name>", figures.show_figure, name="figures-of"),
]
