import si from 'systeminformation'
import { errorMessage } from '../../platform/faults.ts'
import { ffmpegVersion, locateFfmpeg } from '../../platform/ffmpeg.ts'
import { processorCelsius, throttlingOf } from '../../platform/index.ts'
import type { FfmpegFacts, HeatFacts, MemoryFacts } from '../findings/box.ts'

/** Finds the ffmpeg that the gateway would start, and asks it for its version. Never rejects. */
export async function ffmpegFacts(configured: string | null): Promise<FfmpegFacts> {
  try {
    const found = locateFfmpeg({ configured })
    return { ...found, version: await ffmpegVersion(found.path) }
  } catch (error) {
    return { error: errorMessage(error) }
  }
}

export async function memoryFacts(): Promise<MemoryFacts> {
  const { total, available } = await si.mem()
  return { totalBytes: total, availableBytes: available }
}

/** Asks for the temperature and for a processor that is slowed down. */
export async function heatFacts(): Promise<HeatFacts> {
  const celsius = processorCelsius() ?? (await si.cpuTemperature()).main
  return { celsius: celsius ?? null, ...throttlingOf() }
}
