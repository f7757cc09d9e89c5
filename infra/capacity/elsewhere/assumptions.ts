/** What the same rests on in other databases. Estimates where nothing else is said; each is of one cell, or one entry. */
export interface ElsewhereAssumptions {
  /** Bytes of a cell as it is stored here, encoded, which a program can do there, too. Measured: a trip. */
  readonly encodedCellBytes: number;
  /** Bytes of the cell's address, its times, and the names of attributes. */
  readonly addressBytes: number;
  /** Bytes of three fields of an entry, with the address that they lead to. */
  readonly entryBytes: number;

  /** Bytes that DynamoDB counts to each stored item. Of AWS's documentation. */
  readonly itemOverheadBytes: number;
  /** Share of provisioned capacity that is used: what auto scaling aims at by default. Commonly given. */
  readonly provisionedUse: number;

  /**
   * Milliseconds of computing of a transaction of Aurora DSQL that writes a cell, and of one that reads one. AWS's own
   * examples; others measured up to twice that in April 2026, on connections that were new.
   */
  readonly dsqlWriteMs: number;
  readonly dsqlReadMs: number;
  /** Bytes around a row that Aurora DSQL streams, as JSON. */
  readonly envelopeBytes: number;
}
