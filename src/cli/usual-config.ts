import { existsSync } from 'node:fs'

/** Where the package puts the config of a gateway, and of a head office. */
export const installedConfig = '/etc/gatehouse/gatehouse.yaml'
export const installedHubConfig = '/etc/gatehouse/hub.yaml'

/** Returns the given config file, else the installed one. Returns undefined where neither exists. */
export function usualConfig(given: string | undefined): string | undefined {
  return given ?? (existsSync(installedConfig) ? installedConfig : undefined)
}

export const usualConfigText = `default: ${installedConfig} where it is, else the embedded one`
