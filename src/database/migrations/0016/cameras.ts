export const camerasStatements: readonly string[] = []
