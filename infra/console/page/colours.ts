/** Colours of the page as a picture takes them: as they are now, light or dark. */
export function coloursNow<Name extends string>(...names: readonly Name[]): Readonly<Record<Name, string>> {
  const probe = document.createElement('span');
  document.body.append(probe);
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(found) as Readonly<Record<Name, string>>;
}
