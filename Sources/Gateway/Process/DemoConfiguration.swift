/// The configuration of `vitals2mqtt demo`: four simulated wearables of two people.
package enum DemoConfiguration {
    /// The configuration's text, for a broker and with the store in the folder of the configuration.
    package static func text(broker: String) -> String {
        """
        gateway: {id: demo}
        mqtt: {url: "\(broker)"}
        store: {path: demo.sqlite}
        sync: {first: 7d, every: 1m}
        devices:
          - id: band
            name: Anna's band
            person: anna
            driver: simulator
            options: {model: band, history_days: 7, live_interval: 1s}
          - id: ring
            name: Ben's ring
            person: ben
            driver: simulator
            options: {model: ring, history_days: 7}
          - id: cuff
            name: The cuff in the kitchen
            people: {1: anna, 2: ben}
            driver: simulator
            options: {model: cuff, history_days: 7}
          - id: oximeter
            name: Anna's oximeter
            person: anna
            driver: simulator
            options: {model: oximeter, live_interval: 5s}

        """
    }
}
