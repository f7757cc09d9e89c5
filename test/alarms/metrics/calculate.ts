/** The figures of one period, by the names of their metrics; undefined where there was none. */
export type Figures = ReadonlyMap<string, number | undefined>;

type Figure = number | undefined;

/**
 * Works out an expression of CloudWatch's for one period: numbers, metrics, `FILL(…, …)`, the four operations and
 * brackets.
 *
 * @returns undefined where a figure misses that is not filled
 * @throws Error for any other one: what is not known here is not guessed
 */
export function calculate(expression: string, figures: Figures): Figure {
  const reader = new Reader(expression, figures);
  const result = reader.sum();
  reader.end();
  return result;
}

/** Reads from left to right, each rule of what binds more by the next one. */
class Reader {
  readonly #expression: string;
  readonly #figures: Figures;
  readonly #words: string[];

  constructor(expression: string, figures: Figures) {
    this.#expression = expression;
    this.#figures = figures;
    this.#words = expression.match(/\w+(?:\.\d+)?|\S/gu) ?? [];
  }

  sum(): Figure {
    let result = this.#product();
    for (;;)
      if (this.#takes('+')) result = both(result, this.#product(), (one, other) => one + other);
      else if (this.#takes('-')) result = both(result, this.#product(), (one, other) => one - other);
      else return result;
  }

  end(): void {
    if (this.#words.length > 0) this.#fail();
  }

  #product(): Figure {
    let result = this.#operand();
    for (;;)
      if (this.#takes('*')) result = both(result, this.#operand(), (one, other) => one * other);
      else if (this.#takes('/')) result = both(result, this.#operand(), (one, other) => one / other);
      else return result;
  }

  #operand(): Figure {
    if (this.#takes('(')) return this.#within(() => this.sum());
    const word = this.#words.shift() ?? '';
    if (this.#figures.has(word)) return this.#figures.get(word);
    if (/^\d+(?:\.\d+)?$/u.test(word)) return Number(word);
    if (word !== 'FILL' || !this.#takes('(')) return this.#fail();
    return this.#within(() => {
      const value = this.sum();
      if (!this.#takes(',')) return this.#fail();
      const otherwise = this.sum();
      return value ?? otherwise;
    });
  }

  /** What stands before a bracket that closes. */
  #within(read: () => Figure): Figure {
    const value = read();
    return this.#takes(')') ? value : this.#fail();
  }

  #takes(word: string): boolean {
    if (this.#words[0] !== word) return false;
    this.#words.shift();
    return true;
  }

  #fail(): never {
    throw new Error(`${this.#expression}: wanted numbers, metrics and FILL, with + - * / and brackets`);
  }
}

function both(one: Figure, other: Figure, work: (one: number, other: number) => number): Figure {
  return one === undefined || other === undefined ? undefined : work(one, other);
}
