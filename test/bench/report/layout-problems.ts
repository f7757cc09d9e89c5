interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

interface Drawn {
  readonly textContent: string;
  readonly scrollWidth: number;
  getBoundingClientRect(): Box;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Drawn>;
}

declare const document: { readonly documentElement: Drawn; querySelectorAll(selector: string): Iterable<Drawn> };
declare const innerWidth: number;

/**
 * What is wrong with the look of the page that is open. Runs in the browser, from its own source text, so that everything it
 * needs is inside of it.
 */
export function layoutProblems(): readonly string[] {
  /** Pixels; rounding, and room around letters that none of them fills. */
  const [slack, overlap] = [1, 2];
  const outside = (inner: Box, outer: Box): boolean => inner.left < outer.left - slack || inner.right > outer.right + slack || inner.top < outer.top - slack || inner.bottom > outer.bottom + slack;
  const empty = ({ width, height }: Box): boolean => width <= 0 || height <= 0;
  const over = (one: Box, other: Box): boolean => Math.min(one.right, other.right) - Math.max(one.left, other.left) > overlap && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > overlap;
  const problems: string[] = [];
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) problems.push(`the page is ${scrollWidth} pixels wide, its window ${innerWidth}`);
  for (const svg of document.querySelectorAll('svg[role]')) {
    const name = svg.getAttribute('aria-label') ?? 'an svg without a name';
    const frame = svg.getBoundingClientRect();
    if (empty(frame)) problems.push(`${name}: the svg has no size`);
    const texts = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    for (const [place, { text, box }] of texts.entries()) {
      if (empty(box)) problems.push(`${name}: the text "${text}" has no size`);
      else if (outside(box, frame)) problems.push(`${name}: the text "${text}" is outside of its svg`);
      for (const later of texts.slice(place + 1)) if (over(box, later.box)) problems.push(`${name}: the texts "${text}" and "${later.text}" lie over each other`);
    }
    for (const shape of svg.querySelectorAll('rect, circle, polyline')) {
      if (outside(shape.getBoundingClientRect(), frame)) problems.push(`${name}: a shape is outside of its svg`);
    }
  }
  return problems;
}
