export const healthStatements: readonly string[] = []
