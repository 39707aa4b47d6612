/* Draws the figures of charts after the first paint, in the theme at hand, each when it comes
   into view. Without Plotly the words and the table say the same. */
"use strict";

(() => {
  const FAILED = "The chart cannot be drawn here. The table has all of its numbers.";
  let loading = null;

  /** Load Plotly once, however many charts there are. */
  function loadPlotly(source) {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.addEventListener("load", () => (window.Plotly ? resolve(window.Plotly) : reject(new Error("no Plotly"))));
      script.addEventListener("error", () => reject(new Error("blocked")));
      document.head.append(script);
    });
    return loading;
  }

  /** Return a function that turns var(--token) into the colour it has now. */
  function resolver() {
    const probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
    const known = new Map();
    const resolve = (name) => {
      if (!known.has(name)) {
        probe.style.color = name;
        known.set(name, getComputedStyle(probe).color);
      }
      return known.get(name);
    };
    return { resolve, done: () => probe.remove() };
  }

  function themed(value, resolve) {
    if (typeof value === "string") return value.startsWith("var(--") ? resolve(value) : value;
    if (Array.isArray(value)) return value.map((one) => themed(one, resolve));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, themed(one, resolve)]));
    }
    return value;
  }

  function axis(given) {
    return {
      gridcolor: "var(--line)", linecolor: "var(--line-strong)", zerolinecolor: "var(--line-strong)",
      tickcolor: "var(--line-strong)", automargin: true, fixedrange: true, ...given,
    };
  }

  /** Return data and layout as Plotly takes them, with what all charts share. */
  function figureOf(chart) {
    const { data, layout } = JSON.parse(chart.dataset.figure);
    const { resolve, done } = resolver();
    const axes = Object.fromEntries(
      Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name)).map(([name, given]) => [name, axis(given)]),
    );
    // Where there is little room, every other label of a long row is enough.
    const { tickvals, ticktext } = axes.xaxis ?? {};
    if (tickvals?.length > 4 && chart.clientWidth < 420) {
      axes.xaxis.tickvals = tickvals.filter((_, place) => place % 2 === 0);
      axes.xaxis.ticktext = ticktext.filter((_, place) => place % 2 === 0);
    }
    const style = getComputedStyle(document.body);
    const whole = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, dragmode: false,
      margin: { l: 48, r: 16, t: 8, b: 40 },
      font: { family: style.fontFamily, size: 12, color: "var(--ink-soft)" },
      hoverlabel: { bgcolor: "var(--raised)", bordercolor: "var(--line-strong)", font: { color: "var(--ink)" } },
      ...layout, ...axes,
    };
    const found = { data: themed(data, resolve), layout: themed(whole, resolve) };
    done();
    return found;
  }

  async function draw(chart) {
    const plot = chart.querySelector("[data-chart-plot]");
    try {
      const Plotly = await loadPlotly(chart.dataset.plotly);
      if (!chart.isConnected) return;
      const { data, layout } = figureOf(chart);
      await Plotly.react(plot, data, layout, { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false });
      if (!chart.dataset.drawn) makeReadable(chart, plot, Plotly);
      chart.dataset.drawn = "yes";
    } catch (error) {
      showFailure(chart, plot);
    }
  }

  function showFailure(chart, plot) {
    if (chart.dataset.drawn === "no") return;
    chart.dataset.drawn = "no";
    plot.remove();
    const said = document.createElement("p");
    said.className = "chart-failed";
    said.textContent = FAILED;
    const numbers = chart.querySelector(".chart-numbers");
    numbers.before(said);
    numbers.open = true;
  }

  /** Let the arrow keys walk from bar to bar, shown and said. */
  function makeReadable(chart, plot, Plotly) {
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-roledescription", "chart");
    plot.setAttribute("aria-labelledby", `${chart.id}-question ${chart.id}-answer`);
    plot.querySelector(".plot-container")?.setAttribute("aria-hidden", "true");
    const rows = [...chart.querySelectorAll(".chart-numbers tbody tr")];
    let place = -1;
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || !rows.length) return;
      event.preventDefault();
      event.stopPropagation();
      place = Math.min(rows.length - 1, Math.max(0, place + step));
      window.MemConsole?.announce([...rows[place].cells].map((one) => one.textContent.trim()).filter(Boolean).join(", "));
      const points = plot.data[0]?.x?.length || 0;
      if (place < points) Plotly.Fx.hover(plot, [{ curveNumber: 0, pointNumber: place }]);
    });
    plot.addEventListener("blur", () => Plotly.Fx.unhover(plot));
    plot.on("plotly_click", ({ points: [point] }) => openList(rows, point));
  }

  /** Open the list that a bar counts: its row's link, in the column of the bar's part. */
  function openList(rows, point) {
    const row = rows[point.pointNumber];
    if (!row) return;
    const title = (point.data.name ?? "").toLowerCase();
    const heads = [...row.closest("table").tHead.rows[0].cells];
    const place = heads.findIndex((one) => one.textContent.toLowerCase() === title);
    const links = row.querySelectorAll("a[data-number]");
    const link = place > 0 ? row.cells[place].querySelector("a[data-number]") : links.length === 1 ? links[0] : null;
    link?.click();
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "200px" });

  function watch(root) {
    for (const chart of root.querySelectorAll("[data-chart]:not([data-watched])")) {
      chart.dataset.watched = "yes";
      seen.observe(chart);
    }
  }
  // The browser says when it has painted; where it does not, a moment is enough.
  const painted = new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => {
      if (list.getEntriesByName("first-contentful-paint").length) resolve();
    });
    observer.observe({ type: "paint", buffered: true });
    setTimeout(resolve, 3000);
  });
  const afterPaint = (work) => painted.then(() => requestAnimationFrame(work));
  afterPaint(() => watch(document));
  document.addEventListener("htmx:afterSettle", () => afterPaint(() => watch(document)));

  const redraw = () => {
    for (const chart of document.querySelectorAll('[data-chart][data-drawn="yes"]')) draw(chart);
  };
  new MutationObserver(redraw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
