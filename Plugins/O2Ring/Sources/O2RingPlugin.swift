package import GatewayKit

/// Pulse oximeters of Viatom and Wellue that are worn at night: O2Ring, SleepU, Checkme O2 and others with their first protocol.
package enum O2RingPlugin: Plugin {
    package static let name = "O2Ring"
    package static let summary = "Oximeter rings of Viatom and Wellue: recordings, live values, alarm limits, clock."
    package static let drivers: [any DeviceDriver.Type] = [O2Driver.self]
    package static let sample = """
        # A ring of Viatom or Wellue with the first protocol.
        devices:
          - id: anna-oximeter
            name: Anna's oximeter
            driver: o2ring
            transport:
              type: bluez
              address: D8:1A:2B:00:11:22
            options:
              live_every: 10s       # how often the present values are read; 0s for never
        """
}
