/**
 * What a pipeline is doing:
 *
 *     idle ──start──► starting ──► running ◄──► standby
 *                        │            │            │
 *                        └────────────┴──stop──────┴──► stopping ──► stopped
 *                    an error that can't be healed, from anywhere ──► failed
 */
export type PipelineState = 'idle' | 'starting' | 'standby' | 'running' | 'stopping' | 'stopped' | 'failed';
