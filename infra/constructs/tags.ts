/** Which group a cluster or node is: on the bill, and for whoever runs the template elsewhere. */
export const GROUP_TAG = 'schemaless:group';

/** Which node of its group an instance is: `group-1-a` is the first writer. */
export const NODE_TAG = 'schemaless:node';

/** The version of the store that a resource was last deployed with. */
export const VERSION_TAG = 'schemaless:version';
