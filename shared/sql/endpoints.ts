export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A group's servers, as they are reached directly. */
export interface GroupEndpoints {
  readonly name: string;
  readonly writer: Endpoint;
  readonly reader: Endpoint;
  /** All of its servers, each by its own address: roles move. */
  readonly nodes: readonly Endpoint[];
  /** Aurora: all nodes of a cluster share one storage, so that what the writer shows any promoted reader will show. */
  readonly sharedStorage: boolean;
}
