/** The ref key alone says which cell is poison: a message carries no body. */
const MODULUS = 10;
const POISON = 7;

/** The ref key of a writer's cell by its number. */
export function refKeyOf(number: number, poison: boolean): number {
  return number * MODULUS + (poison ? POISON : 0);
}

/** Whether the trigger's function is to fail on this cell as long as it is told to. */
export function isPoison({ ref_key }: { readonly ref_key: number }): boolean {
  return ref_key % MODULUS === POISON;
}
