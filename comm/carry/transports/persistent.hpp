#pragma once

// Private to comm/: the arguments of each message are given once; an exchange starts all receives, and the
// sends of a stage, by one MPI_Startall each.

#include "comm/carry/transports/posted.hpp"

namespace keel {

class Persistent : public MessagesByRequest {
  public:
    using MessagesByRequest::MessagesByRequest;
    ~Persistent() override { free_all(); }
    // Buffers that grow are elsewhere afterwards. All ranks make their messages ready anew then, so that both
    // ends of each do so equally often.
    void reserve(std::size_t /*fields*/) override { free_all(); }

  protected:
    // Make a message of the flight ready.
    virtual void init_receive(const MessageEnd& message, MPI_Request& request) const;
    virtual void init_send(const MessageEnd& message, MPI_Request& request) const;
    void post_sends(std::size_t stage) override { start_all(of_sends(stage)); }

  private:
    void post_receives() override;
    void free_all();
    static void start_all(std::span<MPI_Request> requests);

    std::vector<std::pair<Flight, std::vector<MPI_Request>>> prepared_;  // the messages of flights alike
};

}  // namespace keel
