export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface GroupEndpoints {
  readonly name: string;
  readonly writer: Endpoint;
  readonly reader: Endpoint;
  /** All servers, each by its own address: roles move. */
  readonly nodes: readonly Endpoint[];
  /** The nodes share one storage (Aurora): a promoted reader shows what the writer showed. */
  readonly sharedStorage: boolean;
}
