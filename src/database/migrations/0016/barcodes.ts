export const barcodesStatements: readonly string[] = []
