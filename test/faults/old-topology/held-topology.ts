import type { TopologySource } from '../../../shared/topology/topology.ts';

/** A topology of which nothing new is heard for a while, however often it is looked at. */
export interface HeldTopology {
  readonly source: TopologySource;
  /** From here on one datastore is as it was last known. */
  release(): void;
}

/** Holds what is known of a datastore, from the first time that somebody asks for it. */
export function holdTopology(source: TopologySource, name: string): HeldTopology {
  let isHeld = true;
  const first = source.datastore(name);
  return {
    source: { ...source, datastore: (asked) => (isHeld && asked === name ? first : source.datastore(asked)) },
    release() {
      isHeld = false;
    },
  };
}
