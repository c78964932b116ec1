export const signInStatements: readonly string[] = []
