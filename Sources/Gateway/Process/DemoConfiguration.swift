/// The configuration of `vitals2mqtt demo`: simulated wearables of three people, with thirty days of history, and the page.
///
/// Some of the ring's records cannot be read, and what the cuff measured this morning is stale, so that the page has that to show, too.
package enum DemoConfiguration {
    /// The folder beside the configuration for devices that are added on the page.
    package static let devices = "devices.d"

    /// The configuration's text, for a broker and an address of the page. The store is in the folder of the configuration.
    package static func text(broker: String, listen: String) -> String {
        """
        gateway: {id: demo}
        mqtt: {url: "\(broker)"}
        web: {listen: "\(listen)"}
        store: {path: demo.sqlite}
        devices_from: \(devices)
        devices:
          - id: band
            name: Anna's band
            person: Anna
            driver: simulator
          - id: ring
            name: Ben's ring
            person: Ben
            driver: simulator
            options: {model: ring, faults: {corrupt_records: 0.01}}
          - id: cuff
            name: The cuff in the kitchen
            people: {1: Anna, 2: Ben}
            driver: simulator
            options: {model: cuff}
            fresh_for: {blood_pressure: 1h}
          - id: oximeter
            name: Anna's oximeter
            person: Anna
            driver: simulator
            options: {model: oximeter, live_interval: 5s}
          - id: sensor
            name: Cleo's glucose sensor
            person: Cleo
            driver: simulator
            options: {model: glucose}

        """
    }
}
