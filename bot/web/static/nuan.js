// The page's own script: plots, the chat stream, and a live table that does not grow for ever. No build step.
"use strict";

(() => {
  const MOST_ROWS = 500;
  const short = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function plot(box, figures) {
    const names = Object.keys(figures.series);
    const days = figures.labels.map((_, number) => number);
    const axis = { stroke: colour("--nuan-text"), grid: { stroke: colour("--nuan-card") }, ticks: { stroke: colour("--nuan-line") } };
    const lines = names.map((name, number) => ({
      label: name,
      value: (_, y) => (y == null ? "" : short.format(y)),
      stroke: colour(`--nuan-plot-${(number % 6) + 1}`),
      width: 2,
      dash: number > 2 ? [6, 4] : undefined,
      points: { show: figures.labels.length < 32 },
    }));
    const options = {
      width: Math.max(280, box.clientWidth),
      height: 240,
      scales: { x: { time: false }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      axes: [
        { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100], values: (_, at) => at.map((x) => figures.labels[x] ?? "") },
        { ...axis, size: 70, values: (_, at) => at.map((y) => short.format(y)) },
      ],
      series: [{ label: box.dataset.label, value: (_, x) => (x == null ? "" : figures.labels[x]) }, ...lines],
    };
    box.replaceChildren();
    return new uPlot(options, [days, ...names.map((name) => figures.series[name])], box);
  }

  async function plots() {
    const boxes = [...document.querySelectorAll("[data-plot]")];
    if (!boxes.length) return;
    const answer = await fetch(`/usage.json?days=${boxes[0].dataset.days}`);
    if (!answer.ok || answer.redirected) return;
    const figures = await answer.json();
    const drawn = boxes.map((box) => plot(box, figures[box.dataset.plot]));
    addEventListener("resize", () => drawn.forEach((one, at) => one.setSize({ width: Math.max(280, boxes[at].clientWidth), height: 240 })));
  }

  function chat() {
    const talk = document.getElementById("talk");
    if (!talk) return;
    const [lines, draft, typing, form, line] = ["lines", "draft", "typing", "say", "line"].map((id) => document.getElementById(id));
    const down = () => { lines.scrollTop = lines.scrollHeight; };
    let asked = 0;

    async function refresh() {
      const mine = ++asked;
      const answer = await fetch(talk.dataset.lines);
      if (answer.status === 401 || answer.redirected) { location.href = "/login"; return; }
      const html = await answer.text();
      if (!answer.ok || mine !== asked) return;
      lines.innerHTML = html;
      draft.hidden = true;
      down();
    }

    const stream = new EventSource(talk.dataset.stream);
    stream.addEventListener("open", refresh);
    stream.addEventListener("lines", refresh);
    stream.addEventListener("draft", (event) => {
      draft.textContent = JSON.parse(event.data).text;
      draft.hidden = !draft.textContent;
    });
    stream.addEventListener("typing", (event) => { typing.hidden = !JSON.parse(event.data).text; });
    addEventListener("pagehide", () => stream.close());
    form.addEventListener("htmx:afterRequest", (event) => {
      if (event.detail.successful) { line.value = ""; down(); }
      line.focus();
    });
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    down();
  }

  // What stands above a column, for the narrow screens on which there are none.
  function label() {
    for (const table of document.querySelectorAll(".scroll table")) {
      const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
      for (const row of table.querySelectorAll("tbody tr")) {
        if (row.cells.length === heads.length) [...row.cells].forEach((cell, at) => { if (heads[at] !== "#") cell.dataset.label = heads[at]; });
      }
    }
  }

  document.addEventListener("htmx:afterSwap", () => {
    label();
    const live = document.getElementById("live");
    while (live && live.rows.length > MOST_ROWS) live.rows[live.rows.length - 1].remove();
  });
  document.addEventListener("DOMContentLoaded", () => { label(); plots(); chat(); });
})();
