(() => {
  const bar = document.getElementById("filter");
  const all = [...document.querySelectorAll("#queries details.query")];
  const [kind, text, shown] = ["select", "input", "output"].map((tag) => bar.querySelector(tag));
  const apply = () => {
    const words = text.value.toLowerCase();
    let count = 0;
    for (const each of all) {
      const ofKind = !kind.value || each.dataset.kind === kind.value;
      const fits = ofKind && each.firstElementChild.textContent.toLowerCase().includes(words);
      each.hidden = !fits;
      count += fits;
    }
    shown.value = `${count} of ${all.length} shown`;
  };
  const opened = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) {
      target.hidden = false;
      target.open = true;
      target.scrollIntoView();
    }
  };
  kind.oninput = text.oninput = apply;
  bar.hidden = false;
  apply();
  addEventListener("hashchange", opened);
  opened();
})();
