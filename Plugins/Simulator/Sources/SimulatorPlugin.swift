package import GatewayKit

/// Simulated wearables.
package enum SimulatorPlugin: Plugin {
    package static let name = "Simulator"
    package static let summary = "Simulated wearables: a band, a ring, a blood pressure cuff and an oximeter."
    package static let drivers: [any DeviceDriver.Type] = [SimulatorDriver.self]
    package static let sample = """
        # A simulated wearable. It needs no transport. Every option may be left out; the values are the defaults.
        - id: demo-band
          name: Demo band
          person: anna
          driver: simulator
          options:
            model: band             # band, ring, cuff or oximeter
            # seed: 1               # the same seed is the same person; default: made from the id
            history_days: 30        # days of history in the device, 0 to 400
            live_interval: 1s       # a streamed value so often while worn (band, oximeter); off for none
            clock_skew: 0s          # how far its clock is ahead; -90s is behind
            faults:                 # what goes wrong; all off
              disconnect_every: off # the link breaks after so long, such as 10m
              hang: 0               # probability that a call is never answered
              refuse_write: 0       # probability that a new setting or time is refused
              duplicate_page: 0     # probability that a history page names itself as the next
              future_records: 0     # probability that a history ends with a record of tomorrow
              corrupt_records: 0    # share of the records that cannot be read
              low_battery: false    # the battery is nearly empty; nothing is measured on demand
              not_worn: false       # it lies on a table

        """
}
