import { readFileSync } from 'node:fs'

const path = 'test/compliance.md'

/**
 * The sections of OWASP ASVS 5.0.0 with the number of their last requirement of level 1 or 2. In each section these come
 * before those of level 3, so that the last number says all of them: 253 in all.
 */
const sections: Readonly<Record<string, number>> = {
  ...{ 'V1.1': 2, 'V1.2': 9, 'V1.3': 11, 'V1.4': 3, 'V1.5': 2, 'V2.1': 3, 'V2.2': 3, 'V2.3': 4, 'V2.4': 1 },
  ...{ 'V3.2': 2, 'V3.3': 4, 'V3.4': 6, 'V3.5': 5, 'V3.7': 2, 'V4.1': 3, 'V4.2': 1, 'V4.3': 2, 'V4.4': 4 },
  ...{ 'V5.1': 1, 'V5.2': 3, 'V5.3': 2, 'V5.4': 3, 'V6.1': 3, 'V6.2': 12, 'V6.3': 4, 'V6.4': 4, 'V6.5': 5 },
  ...{ 'V6.6': 3, 'V6.8': 4, 'V7.1': 3, 'V7.2': 4, 'V7.3': 2, 'V7.4': 5, 'V7.5': 2, 'V7.6': 2, 'V8.1': 2 },
  ...{ 'V8.2': 3, 'V8.3': 1, 'V8.4': 1, 'V9.1': 3, 'V9.2': 4, 'V10.1': 2, 'V10.2': 2, 'V10.3': 4, 'V10.4': 11 },
  ...{ 'V10.5': 5, 'V10.6': 2, 'V10.7': 3, 'V11.1': 2, 'V11.2': 3, 'V11.3': 3, 'V11.4': 4, 'V11.5': 1, 'V11.6': 1 },
  ...{ 'V12.1': 3, 'V12.2': 2, 'V12.3': 4, 'V13.1': 1, 'V13.2': 5, 'V13.3': 2, 'V13.4': 5, 'V14.1': 2, 'V14.2': 4 },
  ...{ 'V14.3': 3, 'V15.1': 3, 'V15.2': 3, 'V15.3': 7, 'V16.1': 1, 'V16.2': 5, 'V16.3': 4, 'V16.4': 3, 'V16.5': 3 },
  ...{ 'V17.1': 1, 'V17.2': 4, 'V17.3': 2 },
}
/**
 * The requirements of IEC 62443-4-2 for a software application, by foundational requirement. SAR 2.4 and 3.2 have the numbers of
 * their CR. Left out: those for other kinds of component alone (1.6, 1.13, 2.13 and from 3.10, 5.2 and 7.9 on), and 2.3, which has
 * none.
 */
const componentRequirements: Readonly<Record<number, readonly number[]>> = {
  1: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 14],
  2: [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  3: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  4: [1, 2, 3],
  5: [1],
  6: [1, 2],
  7: [1, 2, 3, 4, 5, 6, 7, 8],
}
const verdicts = ['met', 'partly', 'not met', 'not applicable']

/**
 * Returns the problems in the tables of requirements of ASVS level 2 and IEC 62443-4-2. A requirement is in exactly one row, and
 * exists. A row has a verdict and a reason. The check of all pages finds files that do not exist.
 */
export function complianceProblems(text: string = readFileSync(path, 'utf8')): string[] {
  const rows = [...text.matchAll(/^\| ((?:V\d|CR|SAR).*?) \| (.*?) \| (.*?) \|$/gm)]
  const listed = rows.flatMap(([, requirements = '']) =>
    requirements.startsWith('V') ? numbersIn(requirements) : [componentOf(requirements)],
  )
  const wanted = [
    ...Object.entries(sections).flatMap(([section, last]) => upTo(section, 1, last)),
    ...Object.entries(componentRequirements).flatMap(([group, numbers]) =>
      numbers.map((one) => `62443 ${group}.${one}`),
    ),
  ]
  const known = new Set(wanted)
  const problems = [
    ...wanted.filter((one) => !listed.includes(one)).map((one) => `${one} is in no row`),
    ...listed.filter((one) => !known.has(one)).map((one) => `${one} is no requirement of this table`),
    ...listed.filter((one, index) => listed.indexOf(one) !== index).map((one) => `${one} is in two rows`),
    ...rows.flatMap(([, name, verdict = '', reason = '']) => [
      ...(verdicts.includes(verdict) ? [] : [`${name} is "${verdict}"; say ${verdicts.join(', ')}`]),
      ...(reason.length > 5 ? [] : [`${name} has neither a test nor a reason`]),
    ]),
  ]
  return problems.map((problem) => `${path}: ${problem}`)
}

/** Reads `CR 1.3 Account management` or `SAR 2.4 Mobile code`. */
const componentOf = (requirement: string): string => `62443 ${/^(?:CR|SAR) (\d+\.\d+) /.exec(requirement)?.[1] ?? '?'}`

/** Reads `V1.2.1 to V1.2.3, V1.2.6`. */
function numbersIn(requirements: string): string[] {
  return requirements.split(', ').flatMap((part) => {
    const [, section = '', first = '', , last = first] =
      /^(V\d+\.\d+)\.(\d+)(?: to (V\d+\.\d+)\.(\d+))?$/.exec(part) ?? []
    return section === '' ? [part] : upTo(section, Number(first), Number(last))
  })
}

const upTo = (section: string, first: number, last: number): string[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => `${section}.${first + index}`)
