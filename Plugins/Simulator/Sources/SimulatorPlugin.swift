package import GatewayKit

/// Simulated wearables.
package enum SimulatorPlugin: Plugin {
    package static let name = "Simulator"
    package static let summary = "Simulated wearables: bands, rings, cuffs, oximeters, scales and glucose sensors."
    package static let drivers: [any DeviceDriver.Type] = [SimulatorDriver.self]
    package static let sample = """
        # A wearable that is simulated. It needs no transport, and every option may be left out; these are the defaults.
        devices:
          - id: demo-band
            name: Demo band
            driver: simulator
            options:
              model: band               # band, ring, cuff, oximeter, scale or glucose
              # seed: 1                 # the same seed is the same person; made from the id when left out
              history_days: 30          # days that the device remembers, 0 to 400
              live_interval: 1s         # a streamed value so often while worn, 10ms to 1h; off for none
              clock_skew: 0s            # how far its clock is ahead at first; -90s is behind
              faults:                   # what goes wrong; nothing when left out
                disconnect_every: off   # the link breaks after so long, 1s to 30d
                hang: 0                 # probability that a call is never answered
                refuse_write: 0         # probability that a setting or a time is refused
                duplicate_page: 0       # probability that a page of history names itself as the next
                future_records: 0       # probability that a history ends with a record of tomorrow
                corrupt_records: 0      # share of the records that cannot be read
                low_battery: false      # the battery is nearly empty, and nothing is measured on demand
                not_worn: false         # it lies on a table from the first connection on

        """
}
