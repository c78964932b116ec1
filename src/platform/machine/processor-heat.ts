import { join } from 'node:path'
import { kernelText, namesIn } from './kernel-files.ts'

/**
 * Returns the temperature of the processor in °C, to a tenth, from the kernel; undefined without it. Reads files alone:
 * systeminformation starts a shell for the same files, and two more programs where they are empty.
 * @param sys where the kernel describes its devices
 */
export function processorCelsius(sys = '/sys'): number | undefined {
  return sensorCelsius(labelledSensors(sys)) ?? zoneCelsius(sys)
}

type Sensor = { readonly label: string; readonly input: string }

/** The die of an AMD processor before the value that controls its fans, the package of an Intel one before its single cores. */
const wholeProcessor = [/^tdie$/, /^tctl$/, /package|physical/, /^tccd1$/]

/** Reads no sensor of anything else: an NVMe disk answers only when it has done a command, and the ledger may be on it. */
function sensorCelsius(sensors: readonly Sensor[]): number | undefined {
  const valuesOf = (form: RegExp) =>
    sensors.filter(({ label }) => form.test(label)).flatMap(({ input }) => celsiusOf(input))
  for (const form of wholeProcessor) {
    const [found] = valuesOf(form)
    if (found !== undefined) return found
  }
  const cores = valuesOf(/^core/)
  return cores.length === 0 ? undefined : toTenth(cores.reduce((sum, one) => sum + one, 0) / cores.length)
}

function labelledSensors(sys: string): Sensor[] {
  const folder = join(sys, 'class/hwmon')
  return namesIn(folder, /^hwmon\d+$/).flatMap((device) =>
    namesIn(join(folder, device), /^temp\d+_label$/).map((name) => ({
      label: kernelText(join(folder, device, name))?.toLowerCase() ?? '',
      input: join(folder, device, name.replace('_label', '_input')),
    })),
  )
}

/** A Raspberry Pi and most other boards have a zone of the processor or of the whole chip, and no labelled sensor. */
const zonesOfProcessor = [/cpu|^x86_pkg_temp$/, /^(soc|package)[-_]thermal$/]

function zoneCelsius(sys: string): number | undefined {
  const folder = join(sys, 'class/thermal')
  const zones = namesIn(folder, /^thermal_zone\d+$/)
  const typeOf = (name: string) => kernelText(join(folder, name, 'type'))?.toLowerCase() ?? ''
  for (const form of zonesOfProcessor) {
    const [found] = zones
      .filter((name) => form.test(typeOf(name)))
      .flatMap((name) => celsiusOf(join(folder, name, 'temp')))
    if (found !== undefined) return found
  }
  return undefined
}

/** The kernel writes thousandths of a degree. Nothing where the sensor does not answer. */
function celsiusOf(path: string): number[] {
  const text = kernelText(path)
  const thousandths = Number(text)
  return text && Number.isFinite(thousandths) ? [toTenth(thousandths / 1000)] : []
}

const toTenth = (celsius: number): number => Math.round(celsius * 10) / 10
