// Shows the tip of a plot's mark next to it when the mark is hovered or focused; Escape hides it.
{
  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "tip";
  tip.hidden = true;
  const show = mark => {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const at = mark.getBoundingClientRect();
    const left = at.left + at.width / 2 - tip.offsetWidth / 2;
    const above = at.top - tip.offsetHeight - 8;
    tip.style.left = Math.max(8, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 8)) + scrollX + "px";
    tip.style.top = (above > 0 ? above : at.bottom + 8) + scrollY + "px";
  };
  const hide = () => { tip.hidden = true; };
  for (const mark of document.querySelectorAll("svg .tip")) {
    mark.querySelector("title").remove(); // otherwise the browser shows it, too
    for (const event of ["pointerenter", "focus"]) mark.addEventListener(event, () => show(mark));
    for (const event of ["pointerleave", "blur"]) mark.addEventListener(event, hide);
  }
  addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
}
