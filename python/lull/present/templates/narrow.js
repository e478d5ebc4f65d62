// A table that is wider than the page wraps its words; if it is still too wide, each of its rows becomes a card, whose values
// have the names of their columns. Without this script the table scrolls.
{
  const boxes = [...document.querySelectorAll(".scroll")].filter(box => !box.querySelector("thead[hidden]"));
  for (const box of boxes) {
    const names = [...box.querySelectorAll("thead th")].map(head => head.textContent.trim());
    for (const row of box.querySelectorAll("tbody tr")) [...row.cells].forEach((cell, i) => { cell.dataset.label = names[i]; });
  }
  // Lines do not end within numbers and dates.
  for (const cell of document.querySelectorAll(".scroll td.short")) {
    if (cell.children.length || !cell.textContent.includes(" ")) continue;
    const words = cell.textContent.split(" ").flatMap(word => {
      const whole = document.createElement("span");
      whole.textContent = word;
      if (/^\d/.test(word)) whole.style.whiteSpace = "nowrap";
      return [" ", whole];
    });
    cell.replaceChildren(...words.slice(1));
  }
  const fit = () => boxes.forEach(box => {
    box.classList.remove("tight", "cards");
    for (const form of ["tight", "cards"]) if (box.scrollWidth > box.clientWidth) box.classList.add(form);
  });
  fit();
  addEventListener("resize", fit);
  addEventListener("beforeprint", () => boxes.forEach(box => box.classList.remove("cards")));
  addEventListener("afterprint", fit);
}
