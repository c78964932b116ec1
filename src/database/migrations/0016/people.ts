export const peopleStatements: readonly string[] = []
