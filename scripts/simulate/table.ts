import type { SimulateReport } from './run.ts'

const mostWrong = 20

/** The report as a table, for people; what is wrong comes last. */
export function tableOfReport(report: SimulateReport): string {
  const { lagMs, memory, restarts, wrong } = report
  const lag = ({ p50, p95, p99 }: SimulateReport['lagMs']['calm']) =>
    p50 === null ? 'no leaf' : `${p50} ms, ${p95} ms, ${p99} ms`
  const number = (value: number) => value.toLocaleString('en')
  const grown = memory.fromMiB === null ? 'too short a run to say' : `from ${memory.fromMiB} to ${memory.toMiB} MiB`
  const rows: [string, string][] = [
    ['gateways', number(report.sites)],
    ['leaves acknowledged', `${number(report.leaves)}, ${number(report.leavesPerSecond)} a second`],
    ['feeds', `${number(report.feeds)}, of which ${number(report.retries)} were sent again`],
    ['killed and back', `head office after ${restarts.hubMs} ms, PostgreSQL after ${restarts.postgresMs} ms`],
    ['lag (p50, p95, p99)', lag(lagMs.calm)],
    ['lag around the kills', lag(lagMs.disturbed)],
    ['memory of the head office', `at most ${memory.mostMiB} MiB; ${grown}`],
    ['disk', `${report.bytesPerLeaf} bytes a leaf`],
    ['forks', `${report.forked} gateways forked`],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const verdict =
    wrong.length === 0
      ? ['every acknowledged leaf is there, once, byte for byte; every fork is named']
      : [...wrong.slice(0, mostWrong).map((words) => `WRONG  ${words}`), `${wrong.length} things are wrong`]
  return [...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`), '', ...verdict].join('\n')
}
