export const evidenceStatements: readonly string[] = []
