import type { LabSettings } from '../lab-settings.ts'
import { holdLab } from './hold-lab.ts'

holdLab(JSON.parse(process.argv[4] ?? '{}') as LabSettings)
