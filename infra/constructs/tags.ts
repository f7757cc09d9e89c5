/** A cluster's or node's group: for bills, and for other runners of the template. */
export const GROUP_TAG = 'schemaless:group';

/** The node's name: `group-1-a` is the first writer. */
export const NODE_TAG = 'schemaless:node';

/** The store's version at the last deployment. */
export const VERSION_TAG = 'schemaless:version';
