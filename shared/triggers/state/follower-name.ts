/** The name under which a trigger's offsets are kept: see `shared/follow`. */
export function triggerFollower(trigger: string): string {
  return `trigger/${trigger}`;
}
